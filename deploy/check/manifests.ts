import { createRequire } from 'node:module'
import { join } from 'node:path'

/** An object as `kubectl kustomize` prints it. */
export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string> }
  // biome-ignore lint/suspicious/noExplicitAny: the schemas check what it contains
  spec?: any
  data?: Record<string, string>
}

/** `modules` is the directory whose node_modules has kubernetes-models. */
export class ManifestCheck {
  readonly #require: NodeJS.Require

  constructor(modules: string) {
    this.#require = createRequire(join(modules, 'package.json'))
  }

  /** One line for each problem of the manifests. */
  problems(manifests: readonly Manifest[]): string[] {
    return manifests.flatMap((manifest) => {
      const name = `${manifest.kind} ${manifest.metadata?.name}`
      return [...this.#schemaProblems(manifest), ...podProblems(manifest)].map((problem) => `${name}: ${problem}`)
    })
  }

  #schemaProblems(manifest: Manifest): string[] {
    const { apiVersion, kind } = manifest
    // biome-ignore lint/suspicious/noExplicitAny: a package without types here
    const models: any = this.#require(`kubernetes-models/${apiVersion}`)
    if (!models[kind]) return [`Kubernetes has no ${kind} in ${apiVersion}`]
    const reads = new Reads()
    try {
      models[kind].prototype.validate.call(reads.watch(manifest, ''))
    } catch (error) {
      return [`does not match its schema: ${(error as Error).message}`]
    }
    return reads.unread()
  }
}

/**
 * The schemas accept fields that they do not name. But a compiled schema reads each field that it names, and lists the
 * keys only where any key is permitted, as in labels. So a field that it did not read is unknown.
 */
class Reads {
  readonly #objects: { path: string; keys: string[]; read: Set<string> }[] = []

  watch(value: unknown, path: string): unknown {
    if (typeof value !== 'object' || value === null) return value
    const read = new Set<string>()
    const keys = Object.keys(value)
    this.#objects.push({ path, keys, read })
    const watched = Object.fromEntries(
      Object.entries(value).map(([key, child]) => [key, this.watch(child, `${path}.${key}`)]),
    )
    return new Proxy(Array.isArray(value) ? Object.assign([], watched) : watched, {
      get(target, key) {
        read.add(String(key))
        return Reflect.get(target, key)
      },
      ownKeys(target) {
        for (const key of keys) read.add(key)
        return Reflect.ownKeys(target)
      },
    })
  }

  unread(): string[] {
    const unknown = this.#objects.flatMap(({ path, keys, read }) =>
      keys.filter((key) => !read.has(key)).map((key) => `${path}.${key}`),
    )
    // Nothing below an unknown field was read either.
    const below = (path: string) => unknown.some((other) => path.startsWith(`${other}.`))
    return unknown.filter((path) => !below(path)).map((path) => `the schema does not name ${path.slice(1)}`)
  }
}

/** Of the containers of a workload. */
function podProblems({ spec }: Manifest): string[] {
  const pod = spec?.template?.spec
  if (!pod) return []
  const containers = [...(pod.initContainers ?? []), ...(pod.containers ?? [])]
  return [
    ...(pod.terminationGracePeriodSeconds === 60 ? [] : ['terminationGracePeriodSeconds is not 60']),
    ...containers.flatMap((container) =>
      containerProblems(container, pod.securityContext ?? {}).map((problem) => `${container.name} ${problem}`),
    ),
  ]
}

// biome-ignore lint/suspicious/noExplicitAny: the schemas have checked it
function containerProblems(container: any, ofPod: any): string[] {
  const security = { ...ofPod, ...container.securityContext }
  const { limits = {}, requests = {} } = container.resources ?? {}
  const rules: [boolean, string][] = [
    [/:[^:/]+$/.test(container.image) && !container.image.endsWith(':latest'), 'has an image without a version'],
    [Boolean(limits.cpu && limits.memory), 'has no limit of cpu or memory'],
    [Boolean(requests.cpu && requests.memory), 'has no request of cpu or memory'],
    [security.runAsNonRoot === true && security.runAsUser > 0, 'may run as root'],
    [security.readOnlyRootFilesystem === true, 'can write to its root'],
    [security.allowPrivilegeEscalation === false && !security.privileged, 'can gain privileges'],
    [isAll(security.capabilities?.drop) && !security.capabilities.add?.length, 'has capabilities'],
    [security.seccompProfile?.type === 'RuntimeDefault', 'has no seccomp profile RuntimeDefault'],
    [container.readinessProbe?.httpGet?.path === '/readyz', 'has no readiness probe of /readyz'],
    [container.livenessProbe?.httpGet?.path === '/healthz', 'has no liveness probe of /healthz'],
  ]
  return rules.filter(([holds]) => !holds).map(([, problem]) => problem)
}

const isAll = (drop: unknown) => Array.isArray(drop) && drop.length === 1 && drop[0] === 'ALL'
