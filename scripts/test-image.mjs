// npm run test:image: builds the image, without network, and runs it. As root on Debian.
import { ownCommand } from './own-command.mjs'
import { install, main } from './setup.mjs'

await main(async () => {
  await install()
  await ownCommand('npm run test:image', ['release/image.test.ts'])
})
