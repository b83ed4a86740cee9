import type { Token } from '../catalog/types.ts';
import type { Strategy } from '../domain/strategy/types.ts';
import { builder } from './builder.ts';

/** Types that others refer to and that refer to others themselves. They are implemented beside their fields. */
export const TokenRef = builder.objectRef<Token>('Token');
export const StrategyRef = builder.interfaceRef<Strategy>('Strategy');
