// npm run bench: every row against its floor, in one run. Takes the names of rows' files and databases to choose some.
import { mkdirSync, writeFileSync } from 'node:fs'
import { build, install, main, StepFailed } from '../scripts/setup.mjs'

const rowFiles = ['post-activity', 'deliveries-drained', 'commit-to-first-byte', 'black-hole', 'growth']
const databases = ['postgres', 'embedded']
/** The floors are for PostgreSQL; the embedded database is shown beside it. */
const rounds = { postgres: 3, embedded: 1 }
const results = new URL('../node_modules/.cache/bench.json', import.meta.url)

const asked = process.argv.slice(2)
const chosen = (names) => (names.some((name) => asked.includes(name)) ? names.filter((n) => asked.includes(n)) : names)

await main(async () => {
  await install()
  await build('Building', 'server')
  const measured = []
  for (const database of chosen(databases)) {
    for (const file of chosen(rowFiles)) {
      const { row, rows = [row] } = await import(`./${file}.mjs`)
      for (const one of rows) measured.push(await bestOf(one, database))
    }
  }
  console.table(
    measured.map(({ name, ours, floor, ...rest }) => ({ row: name, ours: shown(ours), floor: shown(floor), ...rest })),
  )
  mkdirSync(new URL('.', results), { recursive: true })
  writeFileSync(results, JSON.stringify({ node: process.version, measured }, null, 2))
  const missed = measured.filter(({ met }) => met === 'no')
  if (missed.length > 0) throw new StepFailed(`missed: ${missed.map(({ name }) => name).join('; ')}`)
})

/** The machine is noisy: the best round counts, ours and the floor from the same one. */
async function bestOf({ name, unit, better, target, run, ownDatabase }, database) {
  const { withDatabase, withPlace } = await import('./setting.mjs')
  let best
  for (let round = 1; round <= rounds[database]; round++) {
    const { ours, floor } = await (ownDatabase ? withPlace : withDatabase)(database, run)
    const ratio = ours / floor
    console.log(
      `  ${name}, ${database}, round ${round}: ${shown(ours)} ${unit}, floor ${shown(floor)}: ${ratio.toFixed(2)}`,
    )
    if (!best || (better === 'more' ? ratio > best.ratio : ratio < best.ratio)) best = { ours, floor, ratio }
  }
  const ratio = Number(best.ratio.toFixed(2))
  const met = database === 'postgres' ? (better === 'more' ? ratio >= target : ratio <= target) : undefined
  return { name, database, unit, ...best, ratio, target, met: met === undefined ? '' : met ? 'yes' : 'no' }
}

function shown(value) {
  return value >= 100 ? Math.round(value) : Number(value.toFixed(2))
}
