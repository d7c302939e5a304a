import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readIfExists } from './files.ts'

const packageDirectory = dirname(dirname(fileURLToPath(import.meta.url)))

/** The URL of the instance that npm or npx fetched this command from; null in a checkout. */
export async function installedFrom(): Promise<string | null> {
  // <node_modules>/@baton/cli: npm records beside it where each package came from.
  const text = await readIfExists(join(packageDirectory, '..', '..', '.package-lock.json'))
  try {
    const { resolved } = JSON.parse(text ?? '').packages['node_modules/@baton/cli']
    return /^(https?:\/\/.*)\/packages\/cli\.tgz$/.exec(resolved)?.[1] ?? null
  } catch {
    return null
  }
}

/** The directory of `sdk` or `cli` in a checkout; null if this command was installed. */
export const inCheckout = (part: 'sdk' | 'cli'): string | null =>
  /[\\/]node_modules[\\/]/.test(packageDirectory) ? null : join(dirname(packageDirectory), part)
