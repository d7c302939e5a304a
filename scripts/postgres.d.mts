export function withPostgres<T>(
  work: (url: string) => Promise<T>,
  options?: { fsync?: boolean; serverBin?: string },
): Promise<T>
