-- The teams that an invited person joins. Ids of teams that were deleted meanwhile are ignored.
alter table invitations add column team_ids text[] not null default '{}';

-- The audit log of one person.
create index audit_entries_actor on audit_entries (workspace_id, actor_id, id desc);
