export function withPostgres<T>(
  work: (url: string) => Promise<T>,
  options?: { fsync?: boolean; serverBin?: string },
): Promise<T>
/** The folder of its programs. Installs it if it is missing. */
export function findPostgres(): Promise<string>
/** The user that PostgreSQL runs as. */
export function postgresUser(): { uid?: number; gid?: number }
