type Output = Promise<{ stdout: string; stderr: string }>

export class ImageEngine {
  static open(): Promise<ImageEngine>
  podman(...args: string[]): Output
  makeBases(): Promise<void>
  build(name: string, buildArgs: Record<string, string>): Promise<string>
  // biome-ignore lint/suspicious/noExplicitAny: what buildah prints
  inspect(name: string): Promise<any>
  withFiles<T>(name: string, work: (dir: string) => T): Promise<T>
  close(): Promise<void>
}
