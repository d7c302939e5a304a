// Writes server/dist/packages/{sdk,cli}.tgz, which the instance serves at /packages. Neither needs another package.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { root, stagedPackages } from './setup.mjs'

const to = join(root, 'server', 'dist', 'packages')
const [sdk, cli] = ['sdk', 'cli'].map((name) => join(stagedPackages, name))

const run = (command, args, options = {}) => execFileSync(command, args, { cwd: root, stdio: 'inherit', ...options })

run(process.execPath, ['sdk/build.mjs', sdk])
run(process.execPath, ['cli/build.mjs', cli, sdk])
run('npm', ['pack', sdk, cli, '--ignore-scripts', '--silent', '--pack-destination', stagedPackages], {
  shell: process.platform === 'win32',
})
mkdirSync(to, { recursive: true })
for (const name of ['sdk', 'cli']) {
  const packed = readdirSync(stagedPackages).find((file) => file.startsWith(`baton-${name}-`))
  renameSync(join(stagedPackages, packed), join(to, `${name}.tgz`))
}
