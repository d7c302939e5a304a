import { expect, test, verifies } from './baton.ts'

// A service of its own, with the demo.
test.use({ settings: { BATON_DEMO: '1' } })

test.beforeEach(async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto('/')
  await page.getByRole('button', { name: 'Enter the demo' }).click()
  await expect(page).toHaveURL(/\/issues/)
})

test(
  'the board of the demo shows six agents without scrolling',
  verifies('demo.states-on-first-open'),
  async ({ page }) => {
    await page.goto('/issues?layout=board')
    const chips = page.getByRole('link', { name: /(Scout|Night Shift).?: / })
    await expect(chips.first()).toBeVisible()
    const inView = async () => {
      const boxes = await Promise.all((await chips.all()).map((chip) => chip.boundingBox()))
      return boxes.filter((box) => box && box.x + box.width <= 1280 && box.y + box.height <= 800).length
    }
    await expect.poll(inView).toBeGreaterThanOrEqual(6)
  },
)

test('the tour ticks its steps by deeds and covers nothing', verifies('demo.tour'), async ({ page }) => {
  test.slow()
  const tour = page.getByRole('region', { name: 'Tour' })
  await expect(tour).toContainText('Step 1 of 5')
  await expect(tour.getByRole('listitem')).toHaveCount(5)
  const [strip, list] = await Promise.all([tour.boundingBox(), page.getByRole('grid').boundingBox()])
  expect((list?.y ?? 0) + (list?.height ?? 0)).toBeLessThanOrEqual((strip?.y ?? 0) + 1)

  await tour.getByRole('link', { name: 'Open the board' }).click()
  await expect(tour).toContainText('Step 2 of 5')
  await tour.getByRole('link', { name: 'Answer a question' }).click()
  await page.getByRole('button', { name: /Fix it and list them/ }).click()
  await expect(tour).toContainText('Step 3 of 5')

  await tour.getByRole('link', { name: 'Watch Scout, then stop it' }).click()
  // The show continues because this browser watches.
  await expect(page.getByText('billing/nightly.ts').first()).toBeVisible({ timeout: 30_000 })
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await expect(tour).toContainText('Step 4 of 5')
  await tour.getByRole('link', { name: 'Review its work' }).click()
  await expect(page.getByText('The button is disabled after the first click').first()).toBeVisible()
  await page.keyboard.press('y')
  await expect(tour).toContainText('Step 5 of 5')
  await page.reload()
  await expect(tour).toContainText('Step 5 of 5')
  await tour.getByRole('link', { name: 'Delegate an issue' }).click()
  await expect(page.getByRole('link', { name: 'Orders need an idempotency key' })).toBeVisible()
  for (let row = 0; row < 3; row++) await page.keyboard.press('j')
  await page.keyboard.press('d')
  await expect(page.getByRole('option', { name: /Scout/ })).toBeVisible()
  await page.keyboard.type('Scout')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Delegated to Scout')).toBeVisible()
  await expect(tour).toContainText('All steps done')
  const [message, below] = await Promise.all([
    page.getByRole('region', { name: 'Messages' }).boundingBox(),
    tour.boundingBox(),
  ])
  expect((message?.y ?? 0) + (message?.height ?? 0)).toBeLessThanOrEqual(below?.y ?? 0)

  await page.keyboard.press('Escape')
  await expect(tour).toHaveCount(0)
  await page.reload()
  await expect(page.getByRole('main')).toBeVisible()
  await expect(tour).toHaveCount(0)
  await page.keyboard.press('?')
  await page.getByRole('button', { name: 'Show the tour' }).click()
  await expect(tour).toContainText('Step 1 of 5')
  await tour.getByRole('button', { name: 'Skip step' }).focus()
  await page.keyboard.press('Enter')
  await expect(tour).toContainText('Step 2 of 5')
})
