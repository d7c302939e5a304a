import { showOverlay, useOverlay } from '../data/overlay.ts'
import { useIsDemo } from '../tour/demo-tour.tsx'
import { startTour, tour } from '../tour/state.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { type Command, useCommandList } from '../ui/shortcuts.ts'
import { useStore } from '../ui/store.ts'

/** All keyboard shortcuts of this screen. */
export function ShortcutHelp() {
  const open = useOverlay()?.name === 'help'
  const commands = useCommandList().filter(({ keys }) => keys)
  const isDemo = useIsDemo()
  const { isEnded } = useStore(tour)
  const showTour = () => {
    showOverlay(null)
    startTour()
  }
  const sections = [...new Set(commands.map(({ section }) => section))]
  return (
    <Dialog
      open={open}
      onClose={() => showOverlay(null)}
      title="Keyboard shortcuts"
      description="Shortcuts on this screen."
      size="lg"
    >
      {isDemo && isEnded && (
        <Button className="mb-4" onClick={showTour}>
          Show the tour
        </Button>
      )}
      <div className="columns-1 gap-8 pb-4 sm:columns-2">
        {sections.map((section) => (
          <section key={section} className="mb-4 break-inside-avoid">
            <h3 className="pb-1 text-xs font-medium text-ink-3">{section}</h3>
            <dl>
              {byTitle(commands.filter((command) => command.section === section)).map(([title, keys]) => (
                <div key={title} className="flex h-7 items-center justify-between gap-4">
                  <dt>{title}</dt>
                  {keys.map((one) => (
                    <dd key={one} className="first-of-type:ml-auto">
                      <Kbd keys={one} />
                      <span className="sr-only">{one.replace('mod', 'Control or Command')}</span>
                    </dd>
                  ))}
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}

/** A command with several keys is registered once for each. */
function byTitle(commands: readonly Command[]) {
  const keys = new Map<string, string[]>()
  for (const command of commands) keys.set(command.title, [...(keys.get(command.title) ?? []), command.keys ?? ''])
  return [...keys]
}
