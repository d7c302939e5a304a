// Writes server/dist/packages/{sdk,cli}.tgz, which the instance serves at /packages. Neither needs another package.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './setup.mjs'

const to = join(root, 'server', 'dist', 'packages')
const unfinished = join(root, 'node_modules', '.cache', 'packages')
const [sdk, cli] = ['sdk', 'cli'].map((name) => join(unfinished, name))

const run = (command, args, options = {}) => execFileSync(command, args, { cwd: root, stdio: 'inherit', ...options })

rmSync(unfinished, { recursive: true, force: true })
run(process.execPath, ['sdk/build.mjs', sdk])
run(process.execPath, ['cli/build.mjs', cli, sdk])
run('npm', ['pack', sdk, cli, '--ignore-scripts', '--silent', '--pack-destination', unfinished], {
  shell: process.platform === 'win32',
})
mkdirSync(to, { recursive: true })
for (const name of ['sdk', 'cli']) {
  const packed = readdirSync(unfinished).find((file) => file.startsWith(`baton-${name}-`))
  renameSync(join(unfinished, packed), join(to, `${name}.tgz`))
}
