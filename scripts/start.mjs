// npm start: installs and builds what is needed, then runs the service in this process.
import { endWithNpm } from './end-with-npm.mjs'
import { build, buildPackages, buildWeb, install, main } from './setup.mjs'

endWithNpm()
await main(async () => {
  await install()
  // The examples need the SDK, and new agents the CLI.
  await build('Building', 'server', 'sdk', 'cli')
  await buildPackages()
  await buildWeb()
  await import('../server/dist/main.js')
})
