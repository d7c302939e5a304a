-- Files of issues, projects, comments and agent sessions. Their bytes are in the storage, under the file's id.

create table files (
  id           text primary key,
  workspace_id text not null references workspaces on delete cascade,
  uploader_id  text references users on delete set null,
  name         text not null,
  bytes        bigint not null,
  media_type   text not null,
  inline       boolean not null,
  width        int,
  height       int,
  sha256       bytea,         -- null while uploading
  state        text not null, -- uploading, ready, deleting
  created_at   timestamptz(3) not null,
  -- When it lost its last link, or was uploaded without one; null while it has one. `infinity` until the next sweep
  -- writes the time, which a trigger does not know.
  unlinked_at  timestamptz(3),
  -- Its bytes are removed 24 hours later, so that a backup of the database finds them; null for an upload that failed.
  deleted_at   timestamptz(3),
  unique (workspace_id, id)
);
-- For the sum of a workspace, and its largest files.
create index files_used on files (workspace_id, bytes desc) where state <> 'deleting';
create index files_uploading on files (created_at) where state = 'uploading';
create index files_unlinked on files (unlinked_at) where state = 'ready' and unlinked_at is not null;
create index files_deleting on files (deleted_at) where state = 'deleting';

-- An item that shows the file: callers with access to one of them have access to the file.
create table file_links (
  file_id      text not null,
  workspace_id text not null,
  target_type  text not null, -- issue, project, comment, session
  target_id    text not null,
  created_at   timestamptz(3) not null,
  primary key (file_id, target_type, target_id),
  foreign key (workspace_id, file_id) references files (workspace_id, id) on delete cascade
);
create index file_links_target on file_links (target_id, file_id);

-- A link ends with its item, in whichever way the item is deleted. Takes the kind of the item.
create function unlink_files() returns trigger language plpgsql as $$
declare
  ids text[];
begin
  with removed as (
    delete from file_links l using gone where l.target_id = gone.id and l.target_type = tg_argv[0]
    returning l.file_id
  )
  select array_agg(distinct file_id) into ids from removed;
  if ids is null then return null; end if;
  -- Another transaction may remove the only other link at the same time.
  perform 1 from files where id = any(ids) order by id for update;
  update files f set unlinked_at = 'infinity'
  where f.id = any(ids) and not exists (select from file_links l where l.file_id = f.id);
  return null;
end $$;

create trigger unlink_files after delete on issues
  referencing old table as gone for each statement execute function unlink_files('issue');
create trigger unlink_files after delete on projects
  referencing old table as gone for each statement execute function unlink_files('project');
create trigger unlink_files after delete on comments
  referencing old table as gone for each statement execute function unlink_files('comment');
create trigger unlink_files after delete on agent_sessions
  referencing old table as gone for each statement execute function unlink_files('session');
