// npm run sbom: writes a CycloneDX document of all production packages of the lockfile to the file given, or to
// sbom.cdx.json. The same lockfile always gives the same document.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { main, root, StepFailed } from './setup.mjs'

await main(async () => {
  const file = resolve(process.argv[2] ?? 'sbom.cdx.json')
  const document = sbomOf(productionOnly())
  const hash = createHash('sha256').update(JSON.stringify(document)).digest('hex')
  const serialNumber = `urn:uuid:${hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-8$3-8$4-$5')}`
  const { $schema, bomFormat, specVersion, ...rest } = document
  writeFileSync(file, `${JSON.stringify({ $schema, bomFormat, specVersion, serialNumber, ...rest }, null, 2)}\n`)
  console.log(`${file}: ${document.components.length} packages`)
})

/** npm's own option for this (11.19) also leaves out what a development dependency shares with the others. */
function productionOnly() {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const packages = Object.entries(lock.packages)
    .filter(([, { dev, devOptional }]) => !dev && !devOptional)
    .map(([path, { devDependencies: _, ...entry }]) => [path, entry])
  return { ...lock, packages: Object.fromEntries(packages) }
}

/** Without what differs between two runs: the time, a random number, the names of folders. */
function sbomOf(lock) {
  const dir = mkdtempSync(join(tmpdir(), 'baton-sbom-'))
  try {
    for (const folder of Object.keys(lock.packages).filter((path) => !path.includes('node_modules/'))) {
      const { devDependencies: _, ...manifest } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
      mkdirSync(join(dir, folder), { recursive: true })
      writeFileSync(join(dir, folder, 'package.json'), JSON.stringify(manifest))
    }
    writeFileSync(join(dir, 'package-lock.json'), JSON.stringify(lock))
    const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--offline']
    const { status, stdout, stderr } = spawnSync('npm', args, { cwd: dir, encoding: 'utf8', maxBuffer: 2 ** 26 })
    if (status !== 0) throw new StepFailed(`npm sbom failed: ${stderr}`)
    const { serialNumber: _serial, ...document } = JSON.parse(stdout)
    delete document.metadata.timestamp
    for (const component of [document.metadata.component, ...document.components]) {
      component.name = component['bom-ref'].replace(/@[^@]*$/, '')
    }
    return document
  } finally {
    rmSync(dir, { recursive: true })
  }
}
