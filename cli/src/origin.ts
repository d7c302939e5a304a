import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packageDirectory = dirname(dirname(fileURLToPath(import.meta.url)))

/** The URL of the instance that npm or npx fetched this command from; null in a checkout. */
export function installedFrom(): string | null {
  try {
    // <node_modules>/@baton/cli: npm records beside it where each package came from.
    const text = readFileSync(join(packageDirectory, '..', '..', '.package-lock.json'), 'utf8')
    const { resolved } = JSON.parse(text).packages['node_modules/@baton/cli']
    return /^(https?:\/\/.*)\/packages\/cli\.tgz$/.exec(resolved)?.[1] ?? null
  } catch {
    return null
  }
}

/** The directory of `sdk` or `cli` in a checkout; null if this command was installed. */
export const inCheckout = (part: 'sdk' | 'cli'): string | null =>
  /[\\/]node_modules[\\/]/.test(packageDirectory) ? null : join(dirname(packageDirectory), part)

/**
 * How to run this command, by the path that it was started with: npx keeps a package from a URL in a cache. Without the
 * URL only the name is certain: `npx baton` would fetch a package of others.
 */
export function commandFor(startedAs: string, from: string | null): string {
  const directories = startedAs.split(/[\\/]/)
  if (directories.includes('_npx')) return from ? `npx ${from}/packages/cli.tgz` : 'baton'
  const isOnPath = basename(startedAs) === 'baton' && !directories.includes('node_modules')
  return isOnPath ? 'baton' : 'npx baton'
}

/** The words with which messages name this command, so that they can be copied. */
export const commandName = commandFor(process.argv[1] ?? '', installedFrom())
