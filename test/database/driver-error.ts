/** An error of the database driver with its code. */
export const coded = (code: unknown, message = 'refused') => Object.assign(new Error(message), { code });
