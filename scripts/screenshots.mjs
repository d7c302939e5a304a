// npm run screenshots [word …]: pictures of every screen, or of those whose name contains one of the words.
// npm run screenshots -- --readme: the pictures of the README, from the demo.
import { browser } from './browser.mjs'
import { bin, build, buildWeb, install, main, step } from './setup.mjs'

const words = process.argv.slice(2)
const readme = words.includes('--readme')

await main(async () => {
  await install()
  await build('Building', 'server', 'sdk')
  await buildWeb()
  const executable = await browser()
  const args = ['test', '--config', 'web/e2e/screenshots.config.ts', readme ? 'readme.ts' : 'screenshots.ts']
  await step(`Pictures in ${readme ? 'docs/pictures' : 'web/screenshots'}`, bin('playwright'), args, {
    show: true,
    env: { DATABASE_URL: '', BATON_CHROMIUM: executable, BATON_SCREENS: words.join(' ') },
  })
})
