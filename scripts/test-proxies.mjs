// npm run test:proxies: runs the proxies of deploy/ in front of a service.
import { ownCommand } from './own-command.mjs'
import { build, install, main } from './setup.mjs'

await main(async () => {
  await install()
  await build('Building', '.')
  await ownCommand('npm run test:proxies', ['release/proxies'])
})
