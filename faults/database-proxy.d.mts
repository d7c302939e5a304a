export class DatabaseProxy {
  static start(target: string): Promise<DatabaseProxy>
  urlOf(target: string): string
  cut(): void
  cutAt(text: string | null): void
  refuse(refusing: boolean): void
  silence(options?: { includingNew?: boolean }): void
  resume(): void
  readonly ignored: number
  stop(): void
}
