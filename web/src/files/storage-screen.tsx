import { useQuery } from '@tanstack/react-query'
import { rereadKey } from '../data/api.ts'
import { storageQuery } from '../data/files.ts'
import { useMe } from '../data/me.ts'
import { counted } from '../ui/amounts.ts'
import { cx } from '../ui/class-names.ts'
import { sizeText } from '../ui/file-access.ts'
import { Page } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { ManagersOnly } from '../workspaces/managers-only.tsx'
import { FileRows } from './file-list.tsx'

export function StorageScreen() {
  const { isManager } = useMe()
  return isManager ? (
    <Storage />
  ) : (
    <ManagersOnly title="Storage" reason="Owners and admins manage the files of the workspace." />
  )
}

function Storage() {
  const storage = useQuery(storageQuery)
  return (
    <Page title="Storage" width="reading">
      <Loaded query={storage}>
        {({ used, limit, files, largest }) => (
          <div className="space-y-6">
            <section aria-label="Used storage" className="space-y-2">
              <p>
                <span className="font-medium">{sizeText(used)}</span>
                <span className="text-ink-2">
                  {' '}
                  of {sizeText(limit)} used, {counted(files, 'file')}
                </span>
              </p>
              <div
                role="meter"
                aria-label="Used storage"
                aria-valuemin={0}
                aria-valuemax={limit}
                aria-valuenow={used}
                aria-valuetext={`${sizeText(used)} of ${sizeText(limit)}`}
                className="h-1.5 overflow-hidden rounded-full bg-line"
              >
                <span
                  className={cx('block h-full rounded-full', used > limit * 0.9 ? 'bg-bad-ink' : 'bg-ink-2')}
                  style={{ width: `${(100 * used) / limit}%` }}
                />
              </div>
            </section>
            {largest.length > 0 && (
              <section aria-label="Largest files" className="border-t pt-1">
                <h2 className="flex h-7 items-center text-xs font-medium text-ink-2">Largest files</h2>
                <FileRows files={largest} onChange={() => rereadKey('storage')} />
              </section>
            )}
          </div>
        )}
      </Loaded>
    </Page>
  )
}
