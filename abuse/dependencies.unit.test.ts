import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
interface Package {
  link?: boolean
  integrity?: string
  resolved?: string
  license?: string
  hasInstallScript?: boolean
  inBundle?: boolean
}
const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')) as {
  packages: Record<string, Package>
}
const installed = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)

/** Licences that allow running and changing a service without publishing its source. */
const licences =
  /^(MIT|MIT-0|ISC|Apache-2.0|BSD-2-Clause|BSD-3-Clause|0BSD|BlueOak-1.0.0|CC0-1.0|Unlicense|Python-2.0|PostgreSQL|MPL-2.0|CC-BY-4.0|OFL-1.1)$/

test('dependencies have checksums, no install scripts and permitted licences', () => {
  expect(installed.length).toBeGreaterThan(100)
  const problems = installed.flatMap(
    ([path, { integrity, resolved, license = 'none', hasInstallScript, inBundle }]) => [
      ...(integrity?.startsWith('sha512-') || inBundle ? [] : [`${path} has no checksum`]),
      ...(resolved ? [`${path} names its download address`] : []),
      ...(hasInstallScript ? [`${path} runs a script when it is installed`] : []),
      ...(license
        .replace(/[()]/g, '')
        .split(/ OR | AND /)
        .some((one) => licences.test(one))
        ? []
        : [`${path} has the licence ${license}`]),
    ],
  )
  expect(problems).toEqual([])
})
