import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { verifies } from '../../conformance/requirements.ts'
import { debianProgram } from '../../scripts/debian.mjs'
import { installApart } from '../../scripts/setup.mjs'
import { type Manifest, ManifestCheck } from './manifests.ts'
import { exampleSecrets, unknownSettings } from './settings.ts'

const kubectl = await debianProgram('kubectl', 'kubernetes-client')
const modules = await installApart('Installing schemas of Kubernetes', 'deploy/check').catch(() => undefined)
const withPrograms = test.skipIf(!(kubectl && modules) && !process.env.CI)

const texts = new Map<string, string>()

/** Objects of its own for each caller. */
const rendered = (overlay: string): Manifest[] => {
  if (!texts.has(overlay)) texts.set(overlay, render(overlay))
  return parseAllDocuments(texts.get(overlay) ?? '').map((document) => document.toJS())
}

function render(overlay: string): string {
  const folder = fileURLToPath(new URL(`../kubernetes/overlays/${overlay}`, import.meta.url))
  const { status, stdout, stderr } = spawnSync(kubectl ?? '', ['kustomize', folder], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`kubectl kustomize ${overlay} failed: ${stderr}`)
  return stdout
}

const kindsOf = (manifests: Manifest[]) => manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()
const problemsOf = (manifests: Manifest[]) => new ManifestCheck(modules ?? '').problems(manifests)

/** The only element. */
function one<T>(items: T[]): T {
  expect(items).toHaveLength(1)
  return items[0] as T
}
const withKind = (manifests: Manifest[], kind: string) => manifests.filter((manifest) => manifest.kind === kind)
const workloads = (manifests: Manifest[]) => manifests.filter(({ spec }) => spec?.template)

describe.each(['postgres', 'embedded'])('the overlay %s', (overlay) => {
  withPrograms('renders objects that match their schemas', verifies('deploy.kubernetes-renders'), () => {
    const manifests = rendered(overlay)
    const own = overlay === 'postgres' ? ['Deployment baton-api', 'Deployment baton-worker'] : ['StatefulSet baton']
    const settings = one(withKind(manifests, 'ConfigMap')).metadata.name
    expect(kindsOf(manifests)).toEqual(
      [
        `ConfigMap ${settings}`,
        'Namespace baton',
        'NetworkPolicy baton',
        'PodDisruptionBudget baton',
        'Service baton',
        ...own,
      ].sort(),
    )
    expect(problemsOf(manifests)).toEqual([])
    for (const { kind, metadata } of manifests) if (kind !== 'Namespace') expect(metadata.namespace).toBe('baton')
  })

  withPrograms('has containers that are restricted and probed', verifies('deploy.kubernetes-restricted'), () => {
    const manifests = rendered(overlay)
    expect(problemsOf(manifests)).toEqual([])
    const containers = workloads(manifests).flatMap(({ spec }) => spec.template.spec.containers)
    expect(containers).toHaveLength(overlay === 'postgres' ? 2 : 1)
    for (const container of containers) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      expect(container.startupProbe.periodSeconds * container.startupProbe.failureThreshold).toBe(600)
    }
    for (const { spec } of workloads(manifests)) {
      expect(spec.template.spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false })
    }
  })

  withPrograms('sends requests of the service to pods that serve them', () => {
    const manifests = rendered(overlay)
    const { selector, ports } = one(withKind(manifests, 'Service')).spec
    const serving = workloads(manifests).filter(({ spec }) =>
      Object.entries(selector).every(([name, value]) => spec.template.metadata.labels[name] === value),
    )
    const container = one(serving).spec.template.spec.containers[0]
    expect(container.ports).toEqual([{ name: ports[0].targetPort, containerPort: 3000 }])
    expect(one(withKind(manifests, 'PodDisruptionBudget')).spec.selector.matchLabels).toEqual(selector)
  })

  withPrograms('has settings that Baton knows', () => {
    const manifests = rendered(overlay)
    const { data, metadata } = one(withKind(manifests, 'ConfigMap'))
    for (const { spec } of workloads(manifests)) {
      const { env, envFrom } = spec.template.spec.containers[0]
      expect(envFrom).toEqual([{ configMapRef: { name: metadata.name } }])
      const own = Object.fromEntries(env.map(({ name, value }: { name: string; value: string }) => [name, value]))
      expect(unknownSettings({ ...data, ...own }, exampleSecrets)).toEqual([])
    }
  })

  withPrograms(
    'lets in the proxy only, and out only what Baton needs',
    verifies('deploy.kubernetes-network-policy'),
    () => {
      const manifests = rendered(overlay)
      const { podSelector, policyTypes, ingress, egress } = one(withKind(manifests, 'NetworkPolicy')).spec
      expect(policyTypes).toEqual(['Ingress', 'Egress'])
      for (const { spec } of workloads(manifests)) {
        expect(spec.template.metadata.labels).toMatchObject(podSelector.matchLabels)
      }
      expect(ingress).toEqual([
        {
          from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress-nginx' } } }],
          ports: [{ protocol: 'TCP', port: 3000 }],
        },
      ])
      const out = egress.flatMap(({ ports }: { ports: { protocol: string; port: number }[] }) => {
        expect(ports.length).toBeGreaterThan(0)
        return ports.map(({ protocol, port }) => `${protocol} ${port}`)
      })
      expect(out.sort()).toEqual(['UDP 53', 'TCP 53', 'TCP 5432', 'TCP 465', 'TCP 587', 'TCP 443', 'TCP 8443'].sort())
    },
  )
})

withPrograms('the embedded database has one process and a volume', () => {
  const { spec } = one(withKind(rendered('embedded'), 'StatefulSet'))
  expect(spec.replicas).toBe(1)
  expect(spec.template.spec.containers[0].volumeMounts).toContainEqual({ name: 'data', mountPath: '/data' })
  expect(one(spec.volumeClaimTemplates as Manifest[]).metadata.name).toBe('data')
})

describe('the check of manifests', () => {
  // biome-ignore lint/suspicious/noExplicitAny: any part of a manifest is changed
  type Change = (parts: { spec: any; pod: any; container: any }) => void

  /** The problems of the Deployment of the API after a change. */
  function problems(change: Change) {
    const manifest = rendered('postgres').find(({ metadata }) => metadata.name === 'baton-api') as Manifest
    const pod = manifest.spec.template.spec
    change({ spec: manifest.spec, pod, container: pod.containers[0] })
    return problemsOf([manifest])
  }
  const of = (problem: string) => [`Deployment baton-api: ${problem}`]

  withPrograms.each<[string, Change, string]>([
    ['a field of the spec', ({ spec }) => Object.assign(spec, { replica: 2 }), 'spec.replica'],
    [
      'a field of a container',
      ({ container }) => Object.assign(container, { imagePullPolicies: 'Always' }),
      'spec.template.spec.containers.0.imagePullPolicies',
    ],
    [
      'a field with fields',
      ({ container }) => Object.assign(container.readinessProbe, { http: { path: '/readyz' } }),
      'spec.template.spec.containers.0.readinessProbe.http',
    ],
  ])('refuses %s that the schema does not name', verifies('deploy.kubernetes-unknown-field'), (_, change, path) => {
    expect(problems(change)).toEqual(of(`the schema does not name ${path}`))
  })

  withPrograms('accepts any label and annotation, and fields that the manifests do not use', () => {
    const accepted: Change = ({ spec, pod, container }) => {
      spec.template.metadata.labels['example.com/any'] = 'x'
      spec.template.metadata.annotations = { 'example.com/any': 'x' }
      pod.nodeSelector = { 'example.com/any': 'x' }
      pod.tolerations = [{ key: 'a', operator: 'Exists' }]
      container.volumeMounts.push({ name: 'tmp', mountPath: '/tmp', subPath: 'a' })
      container.resources.limits['example.com/gpu'] = '1'
      pod.volumes.push({ name: 'tmp', emptyDir: { sizeLimit: '10Mi' } })
    }
    expect(problems(accepted)).toEqual([])
  })

  withPrograms('refuses a value of another type, and an unknown kind', verifies('deploy.kubernetes-renders'), () => {
    const [problem] = problems(({ spec }) => Object.assign(spec, { replicas: 'two' }))
    expect(problem).toContain('does not match its schema')
    const unknown = { apiVersion: 'apps/v1', kind: 'Deploymint', metadata: { name: 'x' } }
    expect(problemsOf([unknown])).toEqual(['Deploymint x: Kubernetes has no Deploymint in apps/v1'])
  })

  withPrograms.each<[string, Change, string]>([
    [
      'latest',
      ({ container }) => Object.assign(container, { image: 'baton:latest' }),
      'has an image without a version',
    ],
    [
      'no tag',
      ({ container }) => Object.assign(container, { image: 'host:5000/baton' }),
      'has an image without a version',
    ],
    ['no resources', ({ container }) => delete container.resources.limits, 'has no limit of cpu or memory'],
    ['no memory', ({ container }) => delete container.resources.limits.memory, 'has no limit of cpu or memory'],
  ])('refuses an image or limits: %s', verifies('deploy.kubernetes-unknown-field'), (_, change, problem) => {
    expect(problems(change)).toEqual(of(`baton ${problem}`))
  })

  withPrograms.each<[string, Change, string]>([
    ['root', ({ pod }) => delete pod.securityContext.runAsNonRoot, 'may run as root'],
    ['user 0', ({ container }) => Object.assign(container.securityContext, { runAsUser: 0 }), 'may run as root'],
    [
      'root file system',
      ({ container }) => delete container.securityContext.readOnlyRootFilesystem,
      'can write to its root',
    ],
    ['escalation', ({ container }) => delete container.securityContext.allowPrivilegeEscalation, 'can gain privileges'],
    ['no drop', ({ container }) => delete container.securityContext.capabilities, 'has capabilities'],
    [
      'one capability',
      ({ container }) => Object.assign(container.securityContext.capabilities, { add: ['CHOWN'] }),
      'has capabilities',
    ],
    [
      'seccomp',
      ({ pod }) => Object.assign(pod.securityContext.seccompProfile, { type: 'Unconfined' }),
      'has no seccomp profile RuntimeDefault',
    ],
    [
      'readiness',
      ({ container }) => Object.assign(container.readinessProbe.httpGet, { path: '/healthz' }),
      'has no readiness probe of /readyz',
    ],
    ['liveness', ({ container }) => delete container.livenessProbe, 'has no liveness probe of /healthz'],
  ])(
    'refuses a container that is not restricted: %s',
    verifies('deploy.kubernetes-restricted'),
    (_, change, problem) => {
      expect(problems(change)).toEqual(of(`baton ${problem}`))
    },
  )

  withPrograms('refuses another grace period', () => {
    expect(problems(({ pod }) => delete pod.terminationGracePeriodSeconds)).toEqual(
      of('terminationGracePeriodSeconds is not 60'),
    )
  })
})
