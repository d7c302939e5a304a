import type { Issue } from '@baton/protocol'

export const useDelegate = () => (_anchor: Element | null, _issues: Issue[]) => {}
