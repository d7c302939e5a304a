// Tries the built service and the CLI on every version of Node in scripts/nodes/package.json, which come as npm packages.
import { existsSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { build, bundleServer, install, installApart, main, run, StepFailed, step } from './setup.mjs'
import { nodePackages, versionsFor } from './versions.mjs'

const smokeSeconds = 120

await main(async () => {
  const versions = versionsFor(nodePackages)
  if (versions.length === 0) {
    return console.log(`▸ No other versions of Node for ${process.platform} ${process.arch}: not tried`)
  }
  await install()
  await bundleServer()
  await build('Building SDK and CLI', 'sdk', 'cli')
  const installed = await installApart('Installing other versions of Node', nodePackages)
  let failed = 0
  for (const version of versions) {
    if (!(await isFine(installed, version))) failed++
  }
  console.log(`\n${versions.length - failed} passed, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
})

async function isFine(installed, { folder, version }) {
  const node = join(installed, 'node_modules', folder, 'bin', 'node')
  try {
    // npm does not fail if an optional package cannot be installed.
    if (!existsSync(node)) throw new StepFailed('the package has not been installed')
    const { output } = await run(node, ['--version'])
    if (output.trim() !== `v${version}`) throw new StepFailed(`the package brings ${output.trim()}`)
    await step(`Node ${version}`, node, ['scripts/smoke.mjs'], {
      timeoutMs: smokeSeconds * 1000,
      env: { PATH: dirname(node) + delimiter + process.env.PATH },
    })
    return true
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
    console.log(`✗ Node ${version}: ${error.message}`)
    return false
  }
}
