export function installNodes(): Promise<{ name: string; version: string; node: string }[]>
export function installPostgresVersions(): Promise<{
  dir: string
  versions: { name: string; version: string; bin: string }[]
}>
export function filesThatDiffer(): string[]
