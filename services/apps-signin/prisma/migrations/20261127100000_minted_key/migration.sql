-- AlterTable
ALTER TABLE "transactions" ADD COLUMN     "minted_key_id" UUID;
