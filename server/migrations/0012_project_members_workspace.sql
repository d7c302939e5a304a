-- As in every table of what a workspace has: the row says whose it is, and the key holds it there. In one step, because
-- no version without it has been released.

alter table project_members add column workspace_id text;
update project_members m set workspace_id = p.workspace_id from projects p where p.id = m.project_id;
alter table project_members
  alter column workspace_id set not null,
  drop constraint project_members_project_id_fkey,
  add foreign key (workspace_id, project_id) references projects (workspace_id, id) on delete cascade;
