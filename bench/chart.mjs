// Draws the best ratio to the floor, a bar for each database, and a mark at the required ratio of each.
const [width, barHeight, gap, left, right, top] = [760, 9, 14, 430, 50, 34]

export function chartOf(measured) {
  const names = [...new Set(measured.map(({ name }) => name))]
  const longest = Math.max(...measured.map(({ ratio, target = 0 }) => Math.max(ratio, target)), 1)
  const scale = (width - left - right) / longest
  const rows = names.map((name, index) => {
    const y = top + index * (2 * barHeight + gap)
    const [ours, embedded] = ['postgres', 'embedded'].map((kind) =>
      measured.find((row) => row.name === name && row.database === kind),
    )
    const { better } = ours ?? embedded
    return [
      `<text class="name" x="${left - 10}" y="${y + 12}">${escaped(name)} ${better === 'more' ? '↑' : '↓'}</text>`,
      ours ? bar(ours, y, scale, 'bar') : '',
      embedded ? bar(embedded, y + barHeight, scale, 'embedded') : '',
    ].join('')
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top + names.length * (2 * barHeight + gap)}" font-family="system-ui, sans-serif" font-size="11">
<style>
  text { fill: #24292f } .name { text-anchor: end } .small { font-size: 8px } .bar { fill: #5b6bd6 } .embedded { fill: #b9c0ee } .missed { fill: #c2410c } .mark { stroke: #24292f; stroke-width: 2 }
  @media (prefers-color-scheme: dark) { text { fill: #e6e6e6 } .bar { fill: #8b98f0 } .embedded { fill: #4c5590 } .mark { stroke: #e6e6e6 } }
</style>
<text x="10" y="16">Ratio to the floor of the same run: ↑ more is better, ↓ less is better. Upper bar: PostgreSQL; lower bar: embedded database; line: required in every round.</text>
${rows.join('\n')}
</svg>
`
}

function bar({ name, database, ratio, target, met }, y, scale, look) {
  const length = ratio * scale
  const mark = met === undefined ? undefined : target * scale
  // Moved behind the mark if they would overlap.
  const hidden = length < mark && mark < length + 30
  const labelAt = left + (hidden ? mark : length) + 5
  return [
    `<rect class="${met === false ? 'missed' : look}" x="${left}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}"><title>${escaped(`${name}, ${database}: ${ratio} of its floor`)}</title></rect>`,
    `<text class="small" x="${labelAt.toFixed(1)}" y="${y + 7.5}">${ratio}</text>`,
    mark === undefined ? '' : markAt(left + mark, y),
  ].join('')
}

const markAt = (x, y) =>
  `<line class="mark" x1="${x.toFixed(1)}" y1="${y - 1}" x2="${x.toFixed(1)}" y2="${y + barHeight + 1}"/>`

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
