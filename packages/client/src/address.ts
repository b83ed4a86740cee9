/** An address as the service writes it: 20 bytes in hexadecimal after `0x`. */
export const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/;
