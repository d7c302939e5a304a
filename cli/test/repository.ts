import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { temporary } from './baton.ts'

const run = promisify(execFile)

/** Runs git as a user does; the result without the last line feed. */
export async function gitIn(cwd: string, ...args: string[]): Promise<string> {
  const identity = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', '-c', 'protocol.file.allow=always']
  const { stdout } = await run('git', [...identity, ...args], { cwd, maxBuffer: 64 * 1024 * 1024 })
  return stdout.replace(/\n$/, '')
}

export async function write(directory: string, files: Record<string, string | Uint8Array>) {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), content)
  }
}

/** A repository with one commit of these files on `main`. */
export async function repository(
  files: Record<string, string | Uint8Array> = { 'README.md': '# Acme\n' },
): Promise<string> {
  const directory = await temporary('baton-repository-')
  await gitIn(directory, 'init', '--quiet', '--initial-branch=main')
  await write(directory, files)
  await gitIn(directory, 'add', '--all')
  await gitIn(directory, 'commit', '--quiet', '--message=First')
  return directory
}
