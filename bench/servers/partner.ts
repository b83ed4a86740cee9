import { startPartnerWorld } from '../partner-world.ts';
import { serve } from '../serve.ts';

serve<{ readonly registered: number }>(async (input) => {
  const { url, world, stop } = await startPartnerWorld(input);
  return { url, report: { world }, stop };
});
