/** The folder of its programs. Installs it if it is missing. */
export function findPostgres(): Promise<string>
/** The user that PostgreSQL runs as. */
export function postgresUser(): { uid?: number; gid?: number }
