-- Imports from other trackers, and people who exist only in imported data.

create table imports (
  id            text primary key,
  workspace_id  text not null references workspaces on delete cascade,
  creator_id    text references users on delete set null,
  source        text not null, -- linear, github, jira, csv
  state         text not null, -- uploading, reading, ready, running, done, canceled, failed
  phase         text,
  done          int not null default 0,
  total         int not null default 0,
  counts        jsonb not null default '{}',
  columns       jsonb not null default '[]',
  mapping       jsonb not null default '{}',
  needs         jsonb not null default '{}', -- what the mapping must contain before a run: field and message
  files         jsonb not null default '[]', -- name, bytes and key in the storage
  connection    jsonb,         -- address of an API, without its key
  key           text,          -- sealed; erased after reading
  problem_count int not null default 0,
  position      jsonb,         -- where the next batch begins, and what the run decided at its start
  started_at    timestamptz(3), -- of the last run
  claim         text,          -- of the worker; another one that takes over replaces it
  claimed_until timestamptz(3),
  attempts      int not null default 0, -- that failed in a row
  cancel        boolean not null default false,
  created_at    timestamptz(3) not null,
  updated_at    timestamptz(3) not null,
  unique (workspace_id, id)
);
create index imports_newest on imports (workspace_id, id desc);
create unique index imports_running on imports (workspace_id) where state = 'running';
create index imports_due on imports (claimed_until) where state in ('reading', 'running');
create index imports_updated on imports (updated_at);

create table import_problems (
  import_id    text not null,
  workspace_id text not null,
  position     int not null,
  row          int,
  field        text,
  value        text,
  message      text not null,
  primary key (import_id, position),
  foreign key (workspace_id, import_id) references imports (workspace_id, id) on delete cascade
);

-- Attachments of the source, fetched while the import is read; the run makes them files.
create table import_attachments (
  import_id    text not null,
  workspace_id text not null,
  external_id  text not null,
  issue        text not null, -- id of the issue in the source
  url          text not null,
  text_url     text,          -- as the text of the issue or comment shows it
  comment      text,          -- id of that comment in the source
  name         text not null,
  is_link      boolean not null,
  row          int not null,
  fetched      boolean not null, -- its bytes are stored, or it is a file here since an earlier import
  key          text,          -- of its bytes in the storage
  bytes        bigint,
  file_id      text not null, -- that it gets
  failure      text,          -- why it could not be fetched
  primary key (import_id, external_id),
  foreign key (workspace_id, import_id) references imports (workspace_id, id) on delete cascade
);
create index import_attachments_issue on import_attachments (import_id, issue);

-- What an item was elsewhere: a second import finds it here.
create table external_refs (
  workspace_id text not null references workspaces on delete cascade,
  source       text not null,
  kind         text not null, -- issue, comment, project, label, milestone, cycle, user, file, team
  external_id  text not null,
  target_id    text not null,
  key          text,           -- its code there
  url          text,
  hash         bytea,          -- of the imported data: unchanged rows are skipped
  imported_at  timestamptz(3), -- the item's updated_at after the import: a later one was changed here
  created_at   timestamptz(3) not null, -- when the run that created it started
  primary key (workspace_id, source, kind, external_id)
);
create index external_refs_target on external_refs (target_id);

-- A name without login and membership, of this workspace only.
alter table users add column placeholder_in text references workspaces on delete cascade;
create index users_placeholder_in on users (placeholder_in, id) where placeholder_in is not null;
