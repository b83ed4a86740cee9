import { type Listening, listen } from '../http/listen.ts';
import type { Logger } from '../shared/logger.ts';
import type { Metrics } from './metrics.ts';

export interface MetricsServerDeps {
  readonly metrics: Pick<Metrics, 'render' | 'contentType'>;
  readonly host: string;
  readonly port: number;
  readonly logger: Logger;
}

const PATH = '/metrics';

/**
 * Serve the metrics on a separate port, which is not exposed to callers.
 * @throws ListenError
 */
export function listenForMetrics({ metrics, host, port, logger }: MetricsServerDeps): Promise<Listening> {
  return listen(
    (req, res) => {
      if (req.url?.split('?', 1)[0] !== PATH || (req.method !== 'GET' && req.method !== 'HEAD')) {
        res.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end(`Only GET ${PATH} is served here.\n`);
        return;
      }
      metrics.render().then(
        (text) => res.writeHead(200, { 'content-type': metrics.contentType, 'cache-control': 'no-store' }).end(text),
        (error: unknown) => {
          logger.error({ err: error }, 'metrics cannot be rendered');
          res.writeHead(500).end();
        },
      );
    },
    { host, port, setting: 'METRICS_PORT' },
  );
}
