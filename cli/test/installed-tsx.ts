import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const source = fileURLToPath(new URL('tsx', import.meta.url))
const target = fileURLToPath(new URL('../../node_modules/.cache/tsx', import.meta.url))

/** Installs tsx apart from the workspace, which does not need it, and returns its node_modules. */
export async function installedTsx(): Promise<string> {
  const modules = join(target, 'node_modules')
  const lock = (directory: string) => readFile(join(directory, 'package-lock.json'), 'utf8')
  if (existsSync(join(modules, '.package-lock.json')) && (await lock(target)) === (await lock(source))) return modules
  await mkdir(target, { recursive: true })
  for (const name of ['package.json', 'package-lock.json']) await copyFile(join(source, name), join(target, name))
  const args = ['ci', '--prefix', target, '--workspaces=false', '--ignore-scripts', '--no-audit', '--no-fund']
  await promisify(execFile)('npm', args, { cwd: target })
  return modules
}
