// npm run operate: commands for the operator of an instance, such as `npm run operate -- reset-link ada@example.com`.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bundleServer, install, main, root } from './setup.mjs'

await main(async () => {
  // What npm start built is used as it is: a new installation or build would break a service that runs.
  if (!existsSync(join(root, 'server', 'bundle', 'operate.js'))) {
    await install()
    await bundleServer()
  }
  const { operate } = await import('../server/bundle/operate.js')
  process.exitCode = await operate(process.argv.slice(2), process.env)
})
