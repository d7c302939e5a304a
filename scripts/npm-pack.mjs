// npm run pack: writes installable packages of protocol, SDK, CLI and server to the directory given, or to ./packages.
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { packPackages } from './packages.mjs'
import { install, main } from './setup.mjs'

await main(async () => {
  await install()
  for (const file of Object.values(await packPackages(resolve(process.argv[2] ?? 'packages')))) {
    console.log(`${file} (${(statSync(file).size / 1e6).toFixed(2)} MB)`)
  }
})
