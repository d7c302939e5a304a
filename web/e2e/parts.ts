import { expect, type Locator, type Page } from '@playwright/test'

/** The open menu or dialog of the page. */
export const menu = (page: Page) => page.getByRole('dialog').last()

export const property = (page: Page, name: string) =>
  page.getByRole('complementary', { name: 'Properties' }).getByRole('button', { name: new RegExp(`^${name}`) })

export const pick = async (page: Page, name: string, option: string | RegExp) => {
  await property(page, name).click()
  await menu(page).getByRole('option', { name: option }).click()
}

/** Picks a date of a form in the menu that its button opens. */
export const pickDay = async (page: Page, button: Locator, day: string) => {
  await button.click()
  const search = menu(page).getByRole('combobox')
  await search.fill(day)
  // Unlike a click, Enter waits for the options of the words.
  await search.press('Enter')
}

/** The toast with this text, including its Undo button. */
export const toast = (page: Page, text: string) =>
  page.getByLabel('Messages').locator('div').filter({ hasText: text }).first()

/** The history and comments of an issue. */
export const feed = (page: Page) => page.getByRole('region', { name: 'Activity' })
export const composer = (page: Page) => feed(page).getByRole('textbox', { name: 'Comment', exact: true })

/** An issue in the list. */
export const rowOf = (page: Page, title: string) => page.getByRole('row').filter({ hasText: title })

/** Types into the palette once it has the focus: keys that are pressed before it is loaded are lost. */
export async function typeInPalette(page: Page, words: string) {
  await page.keyboard.press('Control+k')
  await expect(page.getByLabel('Search issues and commands')).toBeFocused()
  await page.keyboard.type(words)
}
