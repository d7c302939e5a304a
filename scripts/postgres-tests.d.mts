/** The test files of the server that run on PostgreSQL; with `none` those whose result can differ there. */
export function filesOnPostgres(third: '1' | '2' | '3' | 'auto' | 'none'): string[]
