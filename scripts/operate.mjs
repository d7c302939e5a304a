// npm run operate: commands for the operator of an instance, such as `npm run operate -- reset-link ada@example.com`.
import { bundleServer, install, main } from './setup.mjs'

await main(async () => {
  await install()
  await bundleServer()
  const { operate } = await import('../server/bundle/operate.js')
  process.exitCode = operate(process.argv.slice(2), process.env)
})
