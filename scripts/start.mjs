// npm start: installs and builds what is needed, then runs the service in this process.
import { build, install, main } from './setup.mjs'

await main(async () => {
  await install()
  await build('Building', 'server', 'cli')
  await import('../server/dist/main.js')
})
