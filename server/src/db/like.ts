/** For LIKE and ILIKE: whatever has this somewhere in it, as it stands. */
export const containing = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`
