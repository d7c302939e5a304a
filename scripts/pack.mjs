// Writes {sdk,cli}.tgz, which the instance serves at /packages, and the folders they come from to the folder given, which
// becomes server/dist/packages. Neither needs another package.
import { execFileSync } from 'node:child_process'
import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './setup.mjs'

const [to] = process.argv.slice(2)
const names = ['sdk', 'cli']
const [sdk, cli] = names.map((name) => join(to, name))

const run = (command, args, options = {}) => execFileSync(command, args, { cwd: root, stdio: 'inherit', ...options })

run(process.execPath, ['sdk/build.mjs', sdk])
run(process.execPath, ['cli/build.mjs', cli, sdk])
run('npm', ['pack', sdk, cli, '--ignore-scripts', '--silent', '--pack-destination', to], {
  shell: process.platform === 'win32',
})
for (const name of names) {
  const packed = readdirSync(to).find((file) => file.startsWith(`baton-${name}-`))
  renameSync(join(to, packed), join(to, `${name}.tgz`))
}
