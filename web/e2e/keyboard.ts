import type { Locator, Page } from '@playwright/test'

const pages = new WeakSet<Page>()
let patched = false

/** Methods that use the pointer, or move the focus without a key. */
const forbidden = [
  'check',
  'click',
  'clear',
  'dblclick',
  'dispatchEvent',
  'dragAndDrop',
  'dragTo',
  'fill',
  'focus',
  'hover',
  'press',
  'pressSequentially',
  'selectOption',
  'setChecked',
  'tap',
  'type',
  'uncheck',
]
const mouseMethods = ['click', 'dblclick', 'down', 'move', 'up', 'wheel']

/** From here on only `page.keyboard` may be used on this page; everything else throws. */
export function keyboardOnly(page: Page) {
  pages.add(page)
  const allowed = () => !pages.has(page)
  for (const name of mouseMethods) forbid(page.mouse, name, allowed)
  if (patched) return
  patched = true
  forbidOn(Object.getPrototypeOf(page), (self) => self as Page)
  forbidOn(Object.getPrototypeOf(page.locator('body')), (self) => (self as ReturnType<Page['locator']>).page())
}

/** Presses Tab until the element has the focus. */
export async function tabTo(target: Locator) {
  for (let presses = 0; presses < 80; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return
    await target.page().keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${target}`)
}

function forbidOn(prototype: object, pageOf: (self: unknown) => Page) {
  for (const name of forbidden) {
    if (name in prototype) forbid(prototype, name, (self) => !pages.has(pageOf(self)))
  }
}

function forbid(target: object, name: string, allowed: (self: unknown) => boolean) {
  const methods = target as Record<string, (...args: unknown[]) => unknown>
  const original = methods[name]
  if (!original) throw new Error(`there is no ${name} to forbid`)
  methods[name] = function (this: unknown, ...args: unknown[]) {
    if (!allowed(this)) throw new Error(`${name}() is not the keyboard; use page.keyboard in this test`)
    return original.apply(this, args)
  }
}
