import { exampleId, type SectionWords } from './examples.ts'

export const files = {
  File: {
    id: 'Id of the file; write `![name](fil_…)` in a text to show it, `[name](fil_…)` to link it',
    name: ['Name of the file', 'door.png'],
    bytes: ['Its size', 48_213],
    media_type: ['Its type, recognized from its content', 'image/png'],
    inline: ['Whether browsers may show it; other files are downloaded', true],
    width: ['Width of an image in pixels; null for other files', 1280],
    height: ['Height of an image in pixels; null for other files', 720],
    uploader_id: ['Who uploaded it; null if the account no longer exists', exampleId('usr')],
    created_at: 'When it was uploaded',
    data: 'The files',
  },
  uploadFile: {
    name: ['Name of the file, 1 to 200 characters; path, control and bidirectional characters are removed', 'door.png'],
    target_type: ['Kind of the item that gets the file', 'issue'],
    target_id: ['Id of the item that gets the file', exampleId('iss')],
  },
  uploadSessionFile: {
    name: ['Name of the file, 1 to 200 characters; path, control and bidirectional characters are removed', 'door.png'],
  },
  getFileContent: {
    workspace_id: ['The workspace, in place of the header `X-Workspace-ID`', exampleId('wsp')],
  },
  FileLink: {
    url: ['Address of the content', 'http://localhost:3000/f/eyJmIjoiZmls'],
    expires_at: 'When it stops working',
  },
  WorkspaceStorage: {
    used: ['Bytes of all files', 73_400_320],
    limit: ['Bytes that the workspace may use', 10_737_418_240],
    files: ['Number of files', 214],
    largest: 'The largest files that you can access',
  },
} satisfies Record<string, SectionWords>
