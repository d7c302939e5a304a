// npm start: installs and builds what is needed, then runs the service in this process.
import { build, install, main } from './setup.mjs'

await main(async () => {
  await install()
  // The examples run with the SDK.
  await build('Building', 'server', 'sdk')
  await import('../server/dist/main.js')
})
