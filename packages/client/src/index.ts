export { ADDRESS_PATTERN } from './address.ts';
