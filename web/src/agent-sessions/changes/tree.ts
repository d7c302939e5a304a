interface Folder<File> {
  folders: Map<string, Folder<File>>
  files: { name: string; file: File }[]
}

/** A line of the tree. Folders that contain only one folder share a line with it, as `src/ui`. */
export type TreeNode<File> =
  | { kind: 'folder'; path: string; name: string; depth: number }
  | { kind: 'file'; path: string; name: string; depth: number; file: File }

/** Folders before files, each sorted by name. */
export function treeOf<File extends { path: string }>(files: readonly File[]): TreeNode<File>[] {
  const root: Folder<File> = { folders: new Map(), files: [] }
  for (const file of files) {
    const names = file.path.split('/')
    const name = names.pop() ?? ''
    let folder = root
    for (const one of names) {
      const next = folder.folders.get(one) ?? { folders: new Map(), files: [] }
      folder.folders.set(one, next)
      folder = next
    }
    folder.files.push({ name, file })
  }
  return nodesOf(root, '', 0)
}

function nodesOf<File>(folder: Folder<File>, above: string, depth: number): TreeNode<File>[] {
  const byName = [...folder.folders].sort(([a], [b]) => compare(a, b))
  const folders = byName.flatMap(([first, child]) => {
    let name = first
    let inner = child
    for (;;) {
      const [only, ...others] = inner.folders
      if (!only || others.length > 0 || inner.files.length > 0) break
      name += `/${only[0]}`
      inner = only[1]
    }
    const path = above + name
    const node: TreeNode<File> = { kind: 'folder', path, name, depth }
    return [node, ...nodesOf(inner, `${path}/`, depth + 1)]
  })
  const files = folder.files
    .sort((a, b) => compare(a.name, b.name))
    .map(({ name, file }): TreeNode<File> => ({ kind: 'file', path: above + name, name, depth, file }))
  return [...folders, ...files]
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Without what is inside the collapsed folders. */
export const shownNodes = <File>(nodes: readonly TreeNode<File>[], collapsed: ReadonlySet<string>) =>
  collapsed.size === 0
    ? nodes
    : nodes.filter(({ path }) => ![...collapsed].some((folder) => path.startsWith(`${folder}/`)))
