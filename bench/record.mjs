// Writes the results to docs/figures and into the tables of README and growing.md.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { chartOf } from './chart.mjs'

const root = new URL('../', import.meta.url)
const file = new URL('docs/figures/bench.json', root)

/** Keeps earlier results of rows that were not measured this time. */
export function record({ measured, ...about }) {
  const before = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).measured : []
  const isNew = ({ name, database }) => measured.some((row) => row.name === name && row.database === database)
  const all = [...before.filter((row) => !isNew(row)), ...measured]
  mkdirSync(new URL('.', file), { recursive: true })
  writeFileSync(file, `${JSON.stringify({ ...about, measured: all }, null, 2)}\n`)
  writeFileSync(new URL('bench.svg', file), chartOf(all))
  const isGrowth = ({ name }) => name.endsWith(' rows')
  replaceTable(
    'README.md',
    speedTable(
      all.filter((row) => !isGrowth(row)),
      about,
    ),
  )
  replaceTable('docs/guides/growing.md', growthTable(all.filter(isGrowth), about))
}

/** Replaces the table between the two marker comments. */
function replaceTable(name, table) {
  const page = new URL(name, root)
  const [begin, end] = ['<!-- measured: npm run bench -- --record -->', '<!-- /measured -->']
  const text = readFileSync(page, 'utf8')
  const [before, after] = [text.indexOf(begin), text.indexOf(end)]
  if (before < 0 || after < before) throw new Error(`${name} has no markers for the measured table`)
  writeFileSync(page, `${text.slice(0, before)}${begin}\n\n${table}\n\n${text.slice(after)}`)
}

/** Each row's name with its results on both databases. */
const byName = (rows) =>
  [...new Set(rows.map(({ name }) => name))].map((name) => [
    name,
    ...['postgres', 'embedded'].map((kind) => rows.find((row) => row.name === name && row.database === kind)),
  ])

function speedTable(rows, about) {
  return [
    `Node ${about.node.slice(1)}, ${about.machine.cores} cores (${about.machine.processor}), ${about.machine.memoryGb} GB; PostgreSQL on the same machine, with fsync:`,
    '',
    '| measurement | PostgreSQL | compared with, in the same run | ratio | required | embedded database (ratio) |',
    '|---|---|---|---|---|---|',
    ...byName(rows).map(([name, row, embedded]) => {
      const { unit, better, target, floorIs } = row
      const required = target === undefined ? '' : `${better === 'more' ? '≥' : '≤'} ${target}`
      const onEmbedded = embedded ? `${amount(embedded.ours)} ${unit} (${embedded.ratio})` : ''
      return `| ${name} | ${amount(row.ours)} ${unit} | ${amount(row.floor)} ${unit}: ${floorIs} | ${row.ratio} | ${required} | ${onEmbedded} |`
    }),
  ].join('\n')
}

function growthTable(rows, about) {
  const titles = { postgres: 'PostgreSQL', embedded: 'the embedded database' }
  const kinds = Object.keys(titles).filter((kind) => rows.some(({ database }) => database === kind))
  const cells = ({ floor, ours, ratio }) => `${amount(floor)} ms | ${amount(ours)} ms | ${ratio}`
  return [
    `Medians, one call after another; Node ${about.node.slice(1)}, ${about.machine.cores} cores, ${about.machine.memoryGb} GB:`,
    '',
    `| call |${kinds.map((kind) => ` ${titles[kind]}, at 10,000 rows | at 1,000,000 rows | ratio |`).join('')}`,
    `|---|${kinds.map(() => '---|---|---|').join('')}`,
    ...[...new Set(rows.map(({ name }) => name))].map((name) => {
      const measured = kinds.map((kind) => rows.find((row) => row.name === name && row.database === kind))
      return `| ${name.replace(', at 1,000,000 rows', '')} | ${measured.map(cells).join(' | ')} |`
    }),
  ].join('\n')
}

const amount = (value) =>
  value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toFixed(value >= 10 ? 1 : 2)))
