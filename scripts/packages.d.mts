export function packPackages(to: string): Promise<Record<'protocol' | 'sdk' | 'cli' | 'server', string>>
