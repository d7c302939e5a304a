// One bar for each row on PostgreSQL: how ours compares with its floor, and the mark that it has to reach.
const [width, barHeight, gap, left, right] = [760, 16, 12, 400, 60]

export function chartOf(measured) {
  const shown = measured.filter(({ database }) => database === 'postgres')
  const longest = Math.max(...shown.map(({ ratio, target = 0 }) => Math.max(ratio, target)), 1)
  const scale = (width - left - right) / longest
  const height = shown.length * (barHeight + gap) + gap
  const bars = shown.map(({ name, ratio, target, met }, index) => {
    const y = gap + index * (barHeight + gap)
    const mark = target === undefined ? '' : markAt(left + target * scale, y)
    const title = `${name}: ${ratio} of its floor`
    return [
      `<text class="name" x="${left - 10}" y="${y + 12}">${escaped(name)}</text>`,
      `<rect class="${met === false ? 'missed' : 'bar'}" x="${left}" y="${y}" width="${(ratio * scale).toFixed(1)}" height="${barHeight}" rx="2"><title>${escaped(title)}</title></rect>`,
      mark,
      `<text class="ratio" x="${(left + ratio * scale + 6).toFixed(1)}" y="${y + 12}">${ratio}</text>`,
    ].join('')
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="11">
<style>
  text { fill: #24292f } .name { text-anchor: end } .bar { fill: #5b6bd6 } .missed { fill: #c2410c } .mark { stroke: #24292f; stroke-width: 2 }
  @media (prefers-color-scheme: dark) { text { fill: #e6e6e6 } .bar { fill: #8b98f0 } .mark { stroke: #e6e6e6 } }
</style>
${bars.join('\n')}
</svg>
`
}

const markAt = (x, y) =>
  `<line class="mark" x1="${x.toFixed(1)}" y1="${y - 3}" x2="${x.toFixed(1)}" y2="${y + barHeight + 3}"/>`

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
