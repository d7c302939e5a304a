-- Counts that limits are compared with.

-- Requests to send a delivery again.
alter table deliveries add column redeliveries int not null default 0;

-- Who created the workspace. Null for those that the version before creates while it still runs: they do not count.
alter table workspaces add column created_by text references users on delete set null;
create index workspaces_creator on workspaces (created_by);
update workspaces w set created_by = (
  select actor_id from audit_entries a where a.workspace_id = w.id and a.action = 'workspace.created' order by a.id limit 1);
