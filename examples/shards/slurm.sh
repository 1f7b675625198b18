#!/bin/bash
# A SLURM array of sixteen shards: sbatch --export=ALL,MODEL=gpt-x examples/shards/slurm.sh
# When all have ended, join them: equipoise merge results/shards
#SBATCH --job-name=neutrality
#SBATCH --array=1-16
#SBATCH --cpus-per-task=1
#SBATCH --mem=1G
#SBATCH --time=08:00:00
#SBATCH --requeue
set -euo pipefail
cd "$SLURM_SUBMIT_DIR" # a folder that all nodes share
equipoise run neutrality --model "$MODEL" --shard "$SLURM_ARRAY_TASK_ID/16"
