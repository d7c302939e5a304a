// npm start: installs and builds what is needed, then runs the service in this process.
import module from 'node:module'
import { endWithNpm } from './end-with-npm.mjs'
import { buildPackages, buildWeb, bundleServer, install, main } from './setup.mjs'

endWithNpm()
await main(async () => {
  await install()
  await bundleServer()
  // Since Node 22: keeps compiled code for the next start.
  module.enableCompileCache?.()
  const { run } = await import('../server/bundle/run.js')
  // Meanwhile the service opens its database, which takes seconds at the first start.
  await run(buildTheRest())
})

async function buildTheRest() {
  await buildWeb()
  await buildPackages()
}
