import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Installs a package of this folder apart from the workspace, which does not need it, and returns its node_modules. */
export async function installed(name: 'tsx' | 'agents/opencode' | 'agents/codex'): Promise<string> {
  const source = fileURLToPath(new URL(name, import.meta.url))
  const target = fileURLToPath(new URL(`../../node_modules/.cache/${name}`, import.meta.url))
  const modules = join(target, 'node_modules')
  const lock = (directory: string) => readFile(join(directory, 'package-lock.json'), 'utf8')
  if (existsSync(join(modules, '.package-lock.json')) && (await lock(target)) === (await lock(source))) return modules
  await mkdir(target, { recursive: true })
  for (const file of ['package.json', 'package-lock.json']) await copyFile(join(source, file), join(target, file))
  const args = ['ci', '--prefix', target, '--workspaces=false', '--ignore-scripts', '--no-audit', '--no-fund']
  await promisify(execFile)('npm', args, { cwd: target })
  return modules
}
